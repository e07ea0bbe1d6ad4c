"""A survey: a private profile of a table, once, for everybody. All that it releases is paid for, and public from then on.

    what is asked ─ prices, fixed ─ reserve ─ stage 1: what values look like ─ stage 2: keys or a range of each column ─ settle

What stage 2 asks of a column depends on what stage 1 released, and on nothing exact; its price is the same whichever it is.
"""
