/** Assistants: the actor that owns one, and the client that calls it. */

export { assistantKind, assistantWire } from './assistant-actor.ts'
export { assistantClient } from './assistant-client.ts'
export type { AssistantClient } from './assistant-client.ts'
export type { AssistantChange, AssistantContent } from './assistant.ts'
