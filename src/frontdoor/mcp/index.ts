/** The Model Context Protocol, by which agents reach assistants as tools. */

export { challengeOf } from './protected-resource.ts'
export { mcpRoutes } from './routes.ts'
export { unreadableForm } from './unreadable-message.ts'
