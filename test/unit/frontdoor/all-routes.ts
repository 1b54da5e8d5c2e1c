/** All routes of a front door that has everything, hidden ones as well. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import type { FastifyInstance, RouteOptions } from 'fastify'

import { openKeyed } from './mount/deployment-door.ts'

/** Whatever the platform is made of: none of it is called. */
const whatever: unknown = new Proxy(() => undefined, { get: () => whatever })

/** The routes as they were registered. */
export async function allRoutes(): Promise<
  { readonly app: FastifyInstance; readonly routes: readonly RouteOptions[] }
> {
  const routes: RouteOptions[] = []
  let app: FastifyInstance | undefined
  const watch = (message: unknown) => {
    app = (message as { readonly fastify: FastifyInstance }).fastify
    app.addHook('onRoute', (route) => void routes.push(route))
  }
  subscribe('fastify.initialization', watch)
  try {
    await openKeyed({}, { platform: whatever as never })
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
  return { app: app!, routes }
}
