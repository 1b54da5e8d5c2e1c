/** Routes and middleware that projects bring. */

export { addAppGate } from './app-gate.ts'
export { withAppRoutes } from './app-openapi.ts'
export { appFinder } from './find-app.ts'
export { PassedRequests } from './passed-requests.ts'
export type { CallerSource } from './passed-requests.ts'
export { ReturnPort } from './return-port.ts'
