/** What to say of a seed that went wrong. */

import type { Rule } from './rule.ts'
import { simulate } from './simulation.ts'
import type { Outcome } from './simulation.ts'

const tracedLines = 40

/** One line: what was found, and how to see it again. */
export function report({ seed, findings }: Outcome, without: Rule | undefined): string {
  const [first] = findings
  const rest = findings.length > 1 ? `, and ${findings.length - 1} more` : ''
  return `seed ${seed}: ${first?.violation}: ${first?.what}${rest} — npm run simulate -- ` +
    `--seed ${seed}${without === undefined ? '' : ` --without ${without}`} --trace`
}

/** The end of its story. */
export async function replay(seed: number, without: Rule | undefined): Promise<string> {
  const { trace } = await simulate({ seed, without, tracing: true })
  return trace.slice(-tracedLines).join('\n')
}
