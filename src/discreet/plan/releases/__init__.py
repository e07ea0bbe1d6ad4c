"""What can be released, one file a kind: how it is asked for, which exact integers it needs, what is made of them once they have noise.

A new kind is one new file here; `base` says what is in it. Nothing else knows kinds by name: whoever wants one looks it up in the
registry of `base`, which loads every file of this folder.
"""
