/** Turns the events of a run into those of its task. Pure. */

import { textAt } from '../../json/index.ts'
import { kindOf, messageIn } from './graph-messages.ts'
import { partsOf } from './parts-out.ts'
import type { Artifact, Part, Task, TaskEvent } from './task.ts'

/** An event of a run, as its feed has it. */
export interface RunEvent {
  readonly name: string
  readonly json: string
}

/** Translation for one stream. Results come as a model writes their messages. */
export class EventTranslation {
  readonly #task: Task
  /** Characters that were sent of each artifact. */
  readonly #sent = new Map<string, number>()
  #isWorking: boolean

  constructor(task: Task) {
    this.#task = task
    this.#isWorking = task.status.state !== 'submitted'
  }

  /** The events of the task that an event of its run makes. */
  of({ name, json }: RunEvent, atMs: number): readonly TaskEvent[] {
    if (name === 'metadata') return this.#started(atMs)
    if (name !== 'messages' && !name.startsWith('messages|')) return []
    const message = messageIn(json)
    const id = textAt(message, 'id')
    const parts = kindOf(message) === 'ai' ? partsOf(message) : []
    return id === undefined || parts.length === 0 ? [] : [this.#chunk(id, parts)]
  }

  /** The last events of the task: what was not sent of its results, and its status. */
  end(task: Task): readonly TaskEvent[] {
    const rest = (task.artifacts ?? []).map((artifact) => this.#last(task, artifact))
    return [...rest, { kind: 'status', task }]
  }

  #started(atMs: number): readonly TaskEvent[] {
    if (this.#isWorking) return []
    this.#isWorking = true
    return [{ kind: 'status', task: { ...this.#task, status: { state: 'working', atMs } } }]
  }

  #chunk(artifactId: string, parts: readonly Part[]): TaskEvent {
    const sent = this.#sent.get(artifactId)
    this.#sent.set(artifactId, (sent ?? 0) + sizeOf(parts))
    return { kind: 'artifact', task: this.#task,
      chunk: { artifact: { artifactId, parts }, append: sent !== undefined, lastChunk: false } }
  }

  /** One that was sent whole only gets its end; any other is sent in the place of its chunks. */
  #last(task: Task, artifact: Artifact): TaskEvent {
    const isSent = this.#sent.get(artifact.artifactId) === sizeOf(artifact.parts)
    const chunk = isSent
      ? { artifact: { ...artifact, parts: [{ text: '' }] }, append: true, lastChunk: true }
      : { artifact, append: false, lastChunk: true }
    return { kind: 'artifact', task, chunk }
  }
}

function sizeOf(parts: readonly Part[]): number {
  return parts.reduce(
    (sum, { text, raw, url, data }) =>
      sum + (text ?? raw ?? url ?? JSON.stringify(data) ?? '').length,
    0,
  )
}
