/** The documentation of the API, for programs at /openapi.json and for people at /docs. */

import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { getCaller } from '../../api/index.ts'
import { withAppRoutes } from '../custom/index.ts'
import type { App } from '../http/route.ts'

const introduction = `The Agent Deployment API.

A **graph** is your code. An **assistant** is a stored configuration of a graph; each graph has one
from the start, and its graph id can be used as the \`assistant_id\`. A **thread** keeps a
conversation: its state, and every step that led there. A **run** executes an assistant, on a
thread or without one.

To try it: the example of *Create a stateless run and wait for its result* works unchanged.

An error is \`{detail, message, code}\`: a sentence that says what to do, twice, and a code for
programs. A request that is answered with \`Retry-After\` may be sent again after that many seconds;
any other would get the same answer again. Logs name a request by its \`x-request-id\`.`

const tags = [
  { name: 'Assistants', description: 'Configurations of graphs, in numbered versions.' },
  { name: 'Threads', description: 'Conversations that keep their state.' },
  { name: 'State', description: 'What a thread holds now, and what it held before each step.' },
  { name: 'Runs', description: 'Executions of a graph on a thread.' },
  { name: 'Stateless runs', description: 'Executions without a visible thread.' },
  { name: 'Crons', description: 'Runs that are due again and again, on a schedule.' },
  { name: 'Deployments', description: 'Revisions of projects, and what switches them.' },
  { name: 'Server', description: 'The server itself, its keys and limits, and the cluster.' },
]

const securitySchemes = {
  key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
} as const

/** Adds the documentation. Call before the routes that it documents are added. */
export async function describeRoutes(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Heddle', version, description: introduction },
      tags,
      components: { securitySchemes },
      security: [{ key: [] }, { session: [] }, {}],
    },
    refResolver: { buildLocalReference: ({ $id }, _uri, _part, i) => String($id ?? `def-${i}`) },
    transform: ({ schema, url, route: { config } }) => ({
      // Routes do not check what others read.
      schema: { ...schema, ...config?.operation?.raw && { body: config.operation.body } },
      url: config?.operation === getCaller ? '/auth' : url,
    }),
    transformObject: (described) => {
      const { paths } = (described as { openapiObject: Description }).openapiObject
      Object.values(paths).flatMap((path) => Object.values(path)).forEach(allowNoBody)
      return (described as { openapiObject: object }).openapiObject
    },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Heddle' },
    uiConfig: { layout: 'BaseLayout' },
    uiHooks: { onRequest: refuseFrames },
    transformSpecification: (described, request) => below(request, described) as typeof described,
  })
  app.get('/openapi.json', { schema: { hide: true }, config: { access: 'public' } },
    (request) => below(request, app.swagger()))
}

/** The description with the address of the deployment that is called, and the routes of its app. */
function below({ deployment, calledApp }: FastifyRequest, described: object): object {
  const { prefix = '' } = deployment ?? {}
  const whole = withAppRoutes(described, calledApp?.routes.openApi)
  return prefix === '' ? whole : { ...whole, servers: [{ url: prefix }] }
}

/**
 * Forbids frames: a page that shows the documentation in one could make its visitors try things.
 */
function refuseFrames(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  void reply.header('x-frame-options', 'DENY')
    .header('content-security-policy', "frame-ancestors 'none'")
  done()
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly requestBody?: { required: boolean; readonly content: Readonly<Record<string, Body>> }
}

interface Body {
  readonly schema: { readonly required?: unknown; readonly minItems?: number }
}

/** Makes a body optional, unless one of its fields is required. No body counts as `{}`. */
function allowNoBody({ requestBody: body }: Operation): void {
  if (body === undefined) return
  body.required = Object.values(body.content).some(({ schema }) =>
    schema.required !== undefined || schema.minItems !== undefined
  )
}
