"""The judgement on a back-cast: published figures beside ours,
and what the rule says with IW 3 as incumbent."""
