/** Which assistant answers in a thread, and whether its graph holds a conversation. */

import { useQuery } from '@tanstack/react-query'

import { assistantList, graphSchemas } from '../api/assistants.ts'
import type { Assistant, GraphSchemas } from '../api/assistants.ts'
import type { JsonObject } from '../api/client.ts'

/** The assistant of a thread. */
export interface AssistantChoice {
  readonly all: readonly Assistant[]
  /** Undefined until the list is known, and where there is none. */
  readonly assistant: Assistant | undefined
  readonly schemas: GraphSchemas | undefined
  /** Undefined until that is known. */
  readonly isChat: boolean | undefined
}

/** The assistant that is wished for; else the one that the thread was made with. */
export function useAssistant(wished: string | undefined,
  metadata: JsonObject | undefined): AssistantChoice {
  const { data: all = [] } = useQuery(assistantList)
  const assistant = chosenOf(all, wished, metadata)
  const schemas = useQuery({ ...graphSchemas(assistant?.assistant_id ?? ''),
    enabled: assistant !== undefined })
  return { all, assistant, schemas: schemas.data,
    isChat: schemas.isError ? true : schemas.data && hasMessages(schemas.data) }
}

function chosenOf(all: readonly Assistant[], wished: string | undefined,
  metadata: JsonObject | undefined): Assistant | undefined {
  const isOwn = ({ metadata: of }: Assistant) => of['created_by'] === 'system'
  return all.find(({ assistant_id: id }) => id === wished) ??
    all.find(({ assistant_id: id }) => id === metadata?.['assistant_id']) ??
    all.find((each) => each.graph_id === metadata?.['graph_id'] && isOwn(each)) ??
    (metadata === undefined ? undefined : all.find(isOwn))
}

/** A graph holds a conversation if it takes messages. */
function hasMessages({ input_schema: input, state_schema: state }: GraphSchemas): boolean {
  const { properties } = Object(input ?? state) as { properties?: object }
  return Object.hasOwn(properties ?? {}, 'messages')
}
