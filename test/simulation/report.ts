/** The report about a world that went wrong. */

import { simulate } from './simulation.ts'
import type { Outcome, SimulationOptions } from './simulation.ts'

const tracedLines = 40

/** One line: what was found, and how to reproduce it. */
export function report({ options, findings }: Outcome): string {
  const { seed, without, favourite, items, held, crons, searches } = options
  const [first] = findings
  const rest = findings.length > 1 ? `, and ${findings.length - 1} more` : ''
  const settings = [`--seed ${seed}`, without && `--without ${without}`,
    favourite && `--favourite ${favourite}`, items ? '--items' : undefined,
    held ? '--held' : undefined, crons ? '--crons' : undefined, searches ? '--searches' : undefined,
    '--trace'].filter((each) => each !== undefined)
  return `seed ${seed}: ${first?.violation}: ${first?.what}${rest} — npm run simulate -- ` +
    settings.join(' ')
}

/** The last lines of its trace: the same options make the same world. */
export async function replay(options: SimulationOptions): Promise<string> {
  const { trace } = await simulate({ ...options, tracing: true })
  return trace.slice(-tracedLines).join('\n')
}
