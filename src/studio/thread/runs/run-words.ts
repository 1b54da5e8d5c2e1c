/** Words for a run in its row. */

import type { JsonObject } from '../../api/client.ts'
import type { Multitask, Run, RunStart } from '../../api/runs.ts'

const strategyWords: Readonly<Record<Multitask, string>> = { enqueue: '',
  interrupt: 'stopped the run before', rollback: 'undid the run before',
  reject: 'only if none went on' }

/** Handling of a busy thread that a run asked for, in words; empty for a run that took its turn. */
export const strategyOf = ({ multitask_strategy: strategy }: Run): string => strategyWords[strategy]

/** Parameters that a new run takes over from the run that it repeats. */
const repeated = ['input', 'command', 'context', 'interrupt_before', 'interrupt_after',
  'stream_mode', 'durability', 'checkpoint_during'] as const

/** Keys of a configuration that belong to one run. */
const ofOneRun = /^(run_id|thread_id|graph_id|assistant_id|__)/

/** Body that starts a run with the same input and settings. */
export function repetitionOf({ assistant_id: id, kwargs = {} }: Run): RunStart {
  const config = kwargs['config'] as JsonObject | undefined
  const configurable = Object.fromEntries(
    Object.entries((config?.['configurable'] ?? {}) as JsonObject)
      .filter(([key]) => !ofOneRun.test(key)),
  )
  const kept = repeated.flatMap((key): [string, unknown][] => {
    const value = kwargs[key]
    return value === undefined ? [] : [[key, value]]
  })
  return { assistant_id: id, ...Object.fromEntries(kept),
    ...config !== undefined && { config: { ...config, configurable } } }
}
