"""A table of people in cells: what a histogram is learned of. Attributes are what is declared or surveyed, never what the data hold."""
