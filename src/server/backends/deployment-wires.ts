/** Names of the questions about deployments that members ask one another, and their wire. */

import { rawValues } from '../../json/index.ts'

/** The wire of all these questions: plain data. */
export const deploymentWire = { values: rawValues }

/**
 * Names of the questions: to load a revision, also with other secrets than now, to learn of a
 * change, to count runs, to look at a roll-out, for lines, for the next update, to build, and for
 * revisions that cannot be loaded.
 */
export const deploymentQuestions = { prepare: 'deployment-prepare',
  prepareWith: 'deployment-prepare-with', learn: 'deployment-learn', tally: 'deployment-tally',
  look: 'deployment-look', lines: 'deployment-lines', updates: 'deployment-updates',
  build: 'deployment-build', problems: 'deployment-problems' } as const

/** Wires of all questions about deployments. */
export const deploymentWires = Object.values(deploymentQuestions).map((name) => ({ name,
  wire: deploymentWire })
)
