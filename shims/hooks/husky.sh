# husky: append each line to the file in .husky that is named above it, and make the file if it is not there.
# .husky/pre-commit
locked hooks run pre-commit
# .husky/pre-merge-commit
locked hooks run pre-merge-commit
# .husky/pre-push
locked hooks run pre-push -- "$@"
