/** Opens the recorder of a worker. */

import type { Env } from '../../../cluster/index.ts'
import type { SendTraces } from '../engine/step-traces.ts'
import type { RecordingRule } from '../recording-rule.ts'
import type { Mask } from './project-mask.ts'
import type { Recorder } from './recorder.ts'

/** The recorder by a rule. Without one, nothing of it is loaded. */
export async function openRecorder(rule: RecordingRule | undefined,
  env: Pick<Env, 'nowMs' | 'monotonicMs' | 'after' | 'log'>, send: SendTraces,
  { mask, secretNames }: { readonly mask: () => Mask | undefined;
    readonly secretNames?: readonly string[] | undefined }): Promise<Recorder | undefined> {
  if (rule === undefined) return undefined
  const [{ Recorder: Opened }, { byteHider }] = await Promise.all([import('./recorder.ts'),
    import('./hidden-bytes.ts')])
  let hidden: ((text: string) => string) | undefined
  return new Opened({
    ratio: rule.ratio,
    // The project's variables are known when its code runs.
    hide: (text) => (hidden ??= byteHider(process.env, secretNames))(text),
    mask,
    maskFailed: (runId, error) =>
      env.log.warn('The function heddle.mask failed: calls are recorded without their bodies.', {
        runId,
        error,
      }),
    lost: (run, status) =>
      env.log.warn('A part of the recording of a run could not be written.', { ...run, status }),
    send: ({ packed, ...block }) =>
      send({ ...block, form: 'recording', days: rule.days, body: Uint8Array.from(packed) }),
    nowMs: () => env.nowMs(),
    monotonicMs: () => env.monotonicMs(),
    after: (ms, work) => env.after(ms, work),
  })
}
