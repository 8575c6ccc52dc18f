"""What acts on the files of a recording system: it writes them, folds them, checks them, hands them out."""
