/** Assistant that answers in a thread, and the test if its graph holds a conversation. */

import { useQuery } from '@tanstack/react-query'

import type { Assistant, GraphSchemas } from '../../../api/index.ts'
import { assistantList, graphSchemas } from '../../api/assistants.ts'
import type { ThreadState } from '../../api/states.ts'
import type { Thread } from '../../api/threads.ts'

/** The assistant of a thread. */
export interface AssistantChoice {
  readonly all: readonly Assistant[]
  /** Undefined until the list is known, and where there is none. */
  readonly assistant: Assistant | undefined
  /** Undefined until they are known, and where nobody asked for them. */
  readonly schemas: GraphSchemas | undefined
  /** Undefined until that is known. */
  readonly isChat: boolean | undefined
}

/**
 * The assistant that is wished for; else the one that the thread was made with. Its schemas are
 * asked for where the newest state has no messages: the first ones of a graph take seconds to make.
 */
export function useAssistant(wished: string | undefined, metadata: Thread['metadata'] | undefined,
  head: ThreadState | undefined): AssistantChoice {
  const { data: all = [] } = useQuery(assistantList)
  const assistant = chosenOf(all, wished, metadata)
  const schemas = useQuery({ ...graphSchemas(assistant?.assistant_id ?? ''),
    enabled: assistant !== undefined && head !== undefined && !holdsMessages(head) })
  const isChat = holdsMessages(head) || schemas.isError
    ? true
    : schemas.data && takesMessages(schemas.data)
  return { all, assistant, schemas: schemas.data, isChat }
}

function chosenOf(all: readonly Assistant[], wished: string | undefined,
  metadata: Thread['metadata'] | undefined): Assistant | undefined {
  const isOwn = ({ metadata: of }: Assistant) => of['created_by'] === 'system'
  return all.find(({ assistant_id: id }) => id === wished) ??
    all.find(({ assistant_id: id }) => id === metadata?.['assistant_id']) ??
    all.find((each) => each.graph_id === metadata?.['graph_id'] && isOwn(each)) ??
    (metadata === undefined ? undefined : all.find(isOwn))
}

function holdsMessages(head: ThreadState | undefined): boolean {
  const messages = head?.values?.['messages']
  return Array.isArray(messages) && messages.length > 0
}

/** A graph holds a conversation if it takes messages. */
function takesMessages({ input_schema: input, state_schema: state }: GraphSchemas): boolean {
  const { properties } = Object(input ?? state) as { properties?: object }
  return Object.hasOwn(properties ?? {}, 'messages')
}

/** An assistant with its version, and with its graph where the name does not say it. */
export function nameOf({ name, graph_id: graph, version }: Assistant): string {
  return `${name === graph || name === '' ? graph : `${name} · ${graph}`} v${version}`
}
