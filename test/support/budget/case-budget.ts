/** What a case of the day may cost. */

import type { Slowness } from './calibration.ts'
import { listedCases } from './listed-cases.ts'

/** A case that has ended, and what it took. */
export interface CaseCost {
  /** From the root of the repository. */
  readonly file: string
  readonly title: string
  /** Processor time of the thread that it ran in. */
  readonly cpuMs: number
  readonly wallMs: number
  /** The part of both that its searches took. */
  readonly searchMs: number
}

/** Whether a case costs too much, with a message for whoever wrote it. */
export type Verdict =
  | { readonly kind: 'fine' }
  /** The machine is so slow that the case may be innocent. */
  | { readonly kind: 'too busy to judge'; readonly message: string }
  | { readonly kind: 'too dear'; readonly message: string }

/** A case of a unit may take so much processor time, and any other so much time. */
const limits = { unitCpuMs: 500, wallMs: 5_000 }

/** Two measurements of the same work may differ by so much. */
export const noise = 1.3

/** How many times slower than quiet a machine is by which nothing can be judged. */
const busy = 2

/** Judges a case. Asks how slow the machine is only for suspects, as that takes time as well. */
export function judgeCase(cost: CaseCost, slownessNow: () => Slowness): Verdict {
  const isUnit = cost.file.startsWith('test/unit/')
  const ms = (isUnit ? cost.cpuMs : cost.wallMs) - cost.searchMs
  const limitMs = isUnit ? limits.unitCpuMs : limits.wallMs
  if (ms <= limitMs || listedCases[cost.file]?.[cost.title] !== undefined) return { kind: 'fine' }
  const slowness = slownessNow()
  if (ms <= limitMs * noise * (isUnit ? slowness.cpu : slowness.wall)) return { kind: 'fine' }
  const message = `${cost.title} costs ${Math.round(ms)} ms${isUnit ? ' of processor' : ''}, of ` +
    `${limitMs}. Make it cheaper, move it to a *.night.ts file, or list it with its reason in ` +
    'test/support/budget/listed-cases.ts.'
  return { kind: slowness.wall >= busy ? 'too busy to judge' : 'too dear', message }
}
