/** The rules of replays that the simulation can take away. */

/**
 * no_port        a replay has nothing that changes the world: a call that no recording answers
 *                leaves nowhere
 * as_of_start    a replay reads the log up to the record with which its run began
 * control_first  a run that its own revision does not repeat counts in no verdict
 */
export const replayRules = ['no_port', 'as_of_start', 'control_first'] as const

/** A rule of replays that can be taken away. */
export type ReplayRuleName = typeof replayRules[number]
