/** A prompt that is asked about each example of a dataset: an experiment. */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { Uuid } from '../../spans/span.ts'
import type { ChatMessage, ModelCall } from './model.ts'
import type { TracedEvent, TracedModels } from './traced-models.ts'

/** An experiment: the call of the model, and the examples that it is asked about. */
export interface Experiment {
  readonly tenant: string
  /** Name of the project of its spans. */
  readonly project: string
  readonly call: Omit<ModelCall, 'messages'>
  /** The messages to the model for an example with these inputs. Throws `invalid`. */
  messages(inputs: Readonly<Record<string, unknown>>): readonly ChatMessage[]
  /** JSON texts of the examples, in slices. */
  readonly examples: AsyncIterable<{ readonly texts: readonly string[] }>
}

/** Outcome of one example: the end or the error of its call, or a skip. */
export type ExampleEvent = { readonly example: Uuid } & (
  | Extract<TracedEvent, { readonly kind: 'end' | 'error' }>
  /** Nothing was asked. */
  | { readonly kind: 'skipped'; readonly error: HeddleError }
)

/** Examples that one experiment asks about at a time. */
const atOnce = 8

/** Asks about all examples, and gives what became of each as it ends. */
export async function* experimentEvents(experiment: Experiment, models: TracedModels,
  signal: AbortSignal): AsyncGenerator<ExampleEvent, void, void> {
  const texts = textsOf(experiment.examples)
  const begun = (key: number, text: string) => {
    const event = eventOf(experiment, text, models, signal).then((event) => ({ key, event }))
    // The race throws what the first of them throws.
    event.catch(() => {})
    return event
  }
  const running = new Map<number, Promise<{ readonly key: number; readonly event: ExampleEvent }>>()
  let [key, isLast] = [0, false]
  try {
    while (true) {
      while (!isLast && running.size < atOnce) {
        const { value, done } = await texts.next()
        isLast = done === true
        if (value !== undefined) running.set(++key, begun(key, value))
      }
      if (running.size === 0) return
      const ended = await Promise.race(running.values())
      running.delete(ended.key)
      yield ended.event
    }
  } finally {
    await texts.return()
  }
}

async function* textsOf(slices: Experiment['examples']): AsyncGenerator<string, void, void> {
  for await (const { texts } of slices) yield* texts
}

async function eventOf({ tenant, project, call, messages }: Experiment, text: string,
  models: TracedModels, signal: AbortSignal): Promise<ExampleEvent> {
  const { id: example, inputs } = JSON.parse(text) as { readonly id: Uuid;
    readonly inputs: unknown }
  try {
    const asked = { ...call, messages: messages(isObject(inputs) ? inputs : {}) }
    const events = models.stream({ tenant, project, call: asked, example, waits: true }, signal)
    for await (const event of events) {
      if (event.kind === 'end' || event.kind === 'error') return { example, ...event }
    }
    throw new HeddleError('model_failed', 'The answer of the model is empty.')
  } catch (error) {
    signal.throwIfAborted()
    return { example, kind: 'skipped', error: HeddleError.from(error) }
  }
}
