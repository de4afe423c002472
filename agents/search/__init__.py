"""Search over worlds drawn from an observation: rollouts by a light policy, cut after a few turns and evaluated."""
