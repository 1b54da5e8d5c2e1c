/** Protocol v2: commands to a thread, and the events of all its runs. */

export { eventTest } from './event-filter.ts'
export { protocolRoutes } from './routes.ts'
