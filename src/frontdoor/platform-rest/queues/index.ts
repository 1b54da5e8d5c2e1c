/** Routes of annotation queues. */

export { queueItemRoutes } from './queue-items.ts'
export { queueRunRoutes } from './queue-runs.ts'
export { queueRoutes } from './queues.ts'
