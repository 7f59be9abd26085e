"""Rule 7: policies that a server can apply, judged in the two units in which 2010 paid its price."""
