/** A2A: assistants as agents, which other agents call. It goes over the operations of the API. */

export { cardSigner } from './card-signature.ts'
export type { SignCard } from './card-signature.ts'
export { taskNotification } from './notification.ts'
export { agentRoutes } from './routes.ts'
export type { AgentOptions } from './routes.ts'
