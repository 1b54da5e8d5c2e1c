/** Protocol v2: commands to a thread, and the events of all its runs. */

export { protocolRoutes } from './routes.ts'
