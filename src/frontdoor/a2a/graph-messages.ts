/** Finds the messages of a task among those that its graph keeps. Pure. */

import { isList, isObject, objectOf, textAt } from '../../json/index.ts'
import { partsOf } from './parts-out.ts'
import type { Artifact, Message, Part } from './task.ts'

/** Messages of a graph's state. */
export type GraphMessages = readonly unknown[]

/** Kind of a message: whose it is. */
type Kind = 'human' | 'ai' | 'tool' | 'other'

const kinds: Readonly<Record<string, Kind>> = { human: 'human', user: 'human', ai: 'ai',
  assistant: 'ai', AIMessageChunk: 'ai', tool: 'tool' }

/** Whose message it is, by its type or its role. */
export function kindOf(message: unknown): Kind {
  const name = textAt(message, 'type') ?? textAt(message, 'role') ?? ''
  return Object.hasOwn(kinds, name) ? kinds[name]! : 'other'
}

/** The parts of a run's result that a task shows. */
export interface ShownResult {
  readonly messages: GraphMessages
  /** The structured response of an agent; undefined if there is none. */
  readonly structured?: unknown
}

/** The channel in which agents return their structured response. */
export const structuredChannel = 'structuredResponse'

/** The structured response as an artifact of the run; none without one. */
export function structuredArtifacts({ structured }: ShownResult,
  runId: string): readonly Artifact[] {
  if (structured === undefined) return []
  return [{ artifactId: `${runId}-${structuredChannel}`, parts: [{ data: structured }] }]
}

/** The messages from the one that began the task on; from the last of a human if that is gone. */
export function ofTask(messages: GraphMessages, messageId: string | undefined): GraphMessages {
  const named = messages.findIndex((each) =>
    messageId !== undefined &&
    textAt(each, 'id') === messageId
  )
  const from = named >= 0 ? named : messages.findLastIndex((each) => kindOf(each) === 'human')
  return from < 0 ? messages : messages.slice(from)
}

/** Tools whose results other agents may see, by their names; `*` for all. */
export type ToolNames = ReadonlySet<string>

/** The part of a message that an agent may see: its parts; of a tool, its result as data. */
function shownParts(message: unknown, tools: ToolNames): readonly Part[] {
  switch (kindOf(message)) {
    case 'human':
    case 'ai':
      return partsOf(message)
    case 'tool': {
      const name = textAt(message, 'name') ?? ''
      return tools.has('*') || tools.has(name) ? [toolPart(message, name)] : []
    }
    default:
      return []
  }
}

function toolPart(message: unknown, name: string): Part {
  const content = objectOf(message)['content'] ?? null
  return {
    data: { tool: name, tool_call_id: textAt(message, 'tool_call_id') ?? null,
      result: typeof content === 'string' ? parsed(content) : content },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The results among the messages of a task: each answer of the graph, by the id of its message. */
export function artifactsIn(messages: GraphMessages, taskId: string,
  tools: ToolNames): readonly Artifact[] {
  return messages.flatMap((message, index) => {
    const parts = kindOf(message) === 'human' ? [] : shownParts(message, tools)
    return parts.length === 0 ? [] : [{ artifactId: idOf(message, taskId, index), parts }]
  })
}

/** The newest messages as an agent sees them. */
export function historyIn(messages: GraphMessages,
  ids: { readonly taskId: string; readonly contextId: string }, length: number,
  tools: ToolNames): readonly Message[] {
  const all = messages.flatMap((message, index): Message[] => {
    const parts = shownParts(message, tools)
    if (parts.length === 0) return []
    const role = kindOf(message) === 'human' ? 'user' : 'agent'
    return [{ messageId: idOf(message, ids.taskId, index), ...ids, role, parts }]
  })
  return length === 0 ? [] : all.slice(-length)
}

/** The id of a message; of one without, its place in its task. */
function idOf(message: unknown, taskId: string, index: number): string {
  return textAt(message, 'id') || `${taskId}-${index}`
}

/** The message in an event of a graph that streams its messages; undefined if there is none. */
export function messageIn(json: string): unknown {
  const event: unknown = JSON.parse(json)
  const message = isList(event) ? event[0] : undefined
  return isObject(message) ? message : undefined
}
