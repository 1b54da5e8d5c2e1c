/**
 * Tasks, messages and artifacts of A2A, and the JSON of both versions. Pure. The shapes are our
 * own: they are few, and those of the SDK of A2A are of one version only.
 */

import type { Dialect } from './methods.ts'

/**
 * State of a task.
 *
 * submitted       its run waits in the queue of the context
 * working         a worker executes it
 * input-required  the graph asks, and waits for a message to this task
 * completed       the graph has ended
 * failed          the graph threw, or its time was up
 * canceled        somebody cancelled it, or its context went on without an answer
 */
export type TaskState =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'completed'
  | 'failed'
  | 'canceled'

/** All states, in the order of a task's life. */
const taskStates: readonly TaskState[] = ['submitted', 'working', 'input-required', 'completed',
  'failed', 'canceled']

/** A piece of a message or an artifact: one of the first four, and what is known of it. */
export interface Part {
  readonly text?: string
  /** Base64. */
  readonly raw?: string
  readonly url?: string
  readonly data?: unknown
  readonly filename?: string
  readonly mediaType?: string
}

/** A message of a task. */
export interface Message {
  readonly messageId: string
  readonly contextId: string
  readonly taskId: string
  readonly role: 'user' | 'agent'
  readonly parts: readonly Part[]
}

/** A result of a task. */
export interface Artifact {
  readonly artifactId: string
  readonly parts: readonly Part[]
}

/** The state of a task, since when, and what the agent says about it. */
export interface TaskStatus {
  readonly state: TaskState
  readonly atMs: number
  readonly message?: Message | undefined
}

/** A task. */
export interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly artifacts?: readonly Artifact[] | undefined
  readonly history?: readonly Message[] | undefined
}

/** A chunk of an artifact. */
export interface ArtifactChunk {
  readonly artifact: Artifact
  readonly append: boolean
  readonly lastChunk: boolean
}

/** An event of a stream. */
export type TaskEvent =
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'status'; readonly task: Task }
  | { readonly kind: 'artifact'; readonly task: Task; readonly chunk: ArtifactChunk }

/** True for a task that goes no further. */
export function isTerminal({ status: { state } }: Pick<Task, 'status'>): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled'
}

/** The name of a state in a version. */
export function stateName(state: TaskState, dialect: Dialect): string {
  return dialect === '0.3' ? state : `TASK_STATE_${state.replace('-', '_').toUpperCase()}`
}

/** The state with a name of either version; undefined if there is none. */
export function stateNamed(name: string): TaskState | undefined {
  return taskStates.find((state) => name === state || name === stateName(state, '1.0'))
}

/** A task as JSON of a version. */
export function taskJson({ id, contextId, status, artifacts, history }: Task,
  dialect: Dialect): object {
  return {
    ...dialect === '0.3' && { kind: 'task' },
    id,
    contextId,
    status: statusJson(status, dialect),
    ...artifacts && { artifacts: artifacts.map((each) => artifactJson(each, dialect)) },
    ...history && { history: history.map((each) => messageJson(each, dialect)) },
  }
}

/** An event of a stream as JSON of a version. */
export function eventJson(event: TaskEvent, dialect: Dialect): object {
  const isOld = dialect === '0.3'
  const { task } = event
  const { id: taskId, contextId, status } = task
  switch (event.kind) {
    case 'task': {
      const json = taskJson(task, dialect)
      return isOld ? json : { task: json }
    }
    case 'status': {
      const update = { taskId, contextId, status: statusJson(status, dialect) }
      const final = isTerminal(task) || status.state === 'input-required'
      return isOld ? { kind: 'status-update', ...update, final } : { statusUpdate: update }
    }
    case 'artifact': {
      const { artifact, append, lastChunk } = event.chunk
      const update = { taskId, contextId, artifact: artifactJson(artifact, dialect), append,
        lastChunk }
      return isOld ? { kind: 'artifact-update', ...update } : { artifactUpdate: update }
    }
  }
}

function statusJson({ state, atMs, message }: TaskStatus, dialect: Dialect): object {
  return { state: stateName(state, dialect), timestamp: new Date(atMs).toISOString(),
    ...message && { message: messageJson(message, dialect) } }
}

function artifactJson({ artifactId, parts }: Artifact, dialect: Dialect): object {
  return { artifactId, parts: parts.map((each) => partJson(each, dialect)) }
}

function messageJson({ role, parts, ...ids }: Message, dialect: Dialect): object {
  return dialect === '0.3'
    ? { kind: 'message', ...ids, role, parts: parts.map(oldPart) }
    : { ...ids, role: `ROLE_${role.toUpperCase()}`, parts }
}

function partJson(part: Part, dialect: Dialect): object {
  return dialect === '0.3' ? oldPart(part) : part
}

/** In 0.3, data is an object. */
function oldPart({ text, raw, url, data, filename: name, mediaType: mimeType }: Part): object {
  if (text !== undefined) return { kind: 'text', text }
  const about = { ...name !== undefined && { name }, ...mimeType !== undefined && { mimeType } }
  if (raw !== undefined) return { kind: 'file', file: { bytes: raw, ...about } }
  if (url !== undefined) return { kind: 'file', file: { uri: url, ...about } }
  const isPlain = typeof data === 'object' && data !== null && !Array.isArray(data)
  return { kind: 'data', data: isPlain ? data : { value: data } }
}
