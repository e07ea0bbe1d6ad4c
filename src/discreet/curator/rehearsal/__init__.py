"""A rehearsal: what the owner may look at before anybody asks. It is exact, so it is for the owner alone; nothing is spent or recorded.

columns    how many values of each column are of its type, inside of its bounds, one of its keys
people     rows and groups of each person, beside the limits
spelling   a delimiter or a decimal comma that would read more of a CSV file
standard   ten questions that anybody would ask
losses     each of them exact, beside one private draw, and what limits, clamping and noise take away
ladder     public round numbers, which every proposal is rounded outward to
record     all of it, to be read: every line says that it must not be published
"""
