"""Outcomes of picks: forward returns, boards, statistics of groups, review of decision cards."""
