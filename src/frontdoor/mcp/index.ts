/** The Model Context Protocol, by which agents reach assistants as tools. */

export { mcpRoutes } from './routes.ts'
export { isToolAddress, unreadableForm } from './unreadable-message.ts'
