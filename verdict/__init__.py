"""The verdict of a year: loads become effects, effects a judgement, and the judgement one answer."""
