# Whoever owns these hooks adds each line to the file that is named above it; a new file begins with `#!/bin/sh` and is
# made executable.
# pre-commit
locked hooks run pre-commit || exit $?
# pre-merge-commit
locked hooks run pre-merge-commit || exit $?
# pre-push
locked hooks run pre-push -- "$@" || exit $?
