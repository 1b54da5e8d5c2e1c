/**
 * The routes that `langgraphjs deploy --remote --host-url …/control/hosted` calls, and those that
 * `langgraph deploy` finds by `LANGSMITH_ENDPOINT`: an archive is built here, and becomes a
 * revision as any other.
 */

import type { FastifyRequest } from 'fastify'

import { isDeploymentName } from '../../deployment/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { App } from '../http/route.ts'
import { sendFresh } from '../http/serve.ts'
import { HostedCreate, HostedDeployments, HostedPath, HostedUpdate } from '../schema/hosted.ts'
import { buildsIn } from './builds.ts'
import { urlOf } from './deployments.ts'
import { hostedDeployment } from './hosted-json.ts'
import { hostedRoot } from '../platform-rest/platform-target.ts'
import { calledRoot, hostedDeploymentOf, hostedDeployments, hostedRoute, revisionById,
  setHostedSecrets } from './hosted-parts.ts'
import { hostedRevisionRoutes } from './hosted-revisions.ts'
import { byOf, changed } from './parts.ts'
import type { ControlParts } from './parts.ts'

const message = 'langgraphjs deploy'

/** Adds the routes of deployments, listeners, revisions and uploads for commands that deploy. */
export async function addHosted(app: App, parts: ControlParts): Promise<void> {
  deploymentRoutes(app, parts)
  listenerRoutes(app)
  updateRoutes(app, parts)
  hostedRevisionRoutes(app, parts)
  await app.register(async (scope) => uploadRoute(scope as App, parts))
}

const json = (parts: ControlParts, request: FastifyRequest, deployment: Deployment) =>
  hostedDeployment(deployment, urlOf(request, deployment, parts.deployments))

function deploymentRoutes(app: App, parts: ControlParts): void {
  const { deployments: { records, serving, data }, env } = parts
  const root = `${hostedRoot}/v2/deployments`

  app.get(root, hostedRoute({ querystring: HostedDeployments }), async (request, reply) => {
    const { name: only, name_contains: part = '', limit = 100, offset = 0 } = request.query
    const rows = (await hostedDeployments(parts, request))
      .filter(({ name }) => name.includes(part) && (only === undefined || name === only))
    return sendFresh(reply, { offset,
      resources: rows.slice(offset, offset + limit).map((each) => json(parts, request, each)) })
  })

  app.post(root, hostedRoute({ body: HostedCreate }), async (request, reply) => {
    const { body: { name, source, secrets }, caller } = request
    requireSource(source)
    if (!isDeploymentName(name)) {
      throw new HeddleError('invalid',
        '--name must be small letters, digits and dashes, not only ' +
          'digits, and no dash at either end.')
    }
    const deployment = await records.create({ name, tenant: caller.tenant, provisional: true })
    await records.note(deployment.id, { kind: 'deployment', by: byOf(caller),
      data: { change: 'created', name } })
    await serving.learn(name)
    await setHostedSecrets(parts, deployment, request, secrets ?? [])
    return sendFresh(reply.code(201), json(parts, request, deployment))
  })

  app.get(`${root}/:id`, hostedRoute({ params: HostedPath }),
    async (request, reply) =>
      sendFresh(reply, json(parts, request, await hostedDeploymentOf(parts, request))))

  app.delete(`${root}/:id`, hostedRoute({ params: HostedPath }), async (request, reply) => {
    // The command has asked before.
    const marked = await changed(parts, await hostedDeploymentOf(parts, request),
      () => ({ removing: true }))
    data.remove(marked).catch((error: unknown) =>
      env.log.warn('A deployment could not be removed yet.', { error, deployment: marked.name })
    )
    return reply.code(204).send()
  })
}

/** Nothing is placed by a listener here: the servers of the cluster take all. */
function listenerRoutes(app: App): void {
  const root = `${hostedRoot}/v2/listeners`
  app.get(root, hostedRoute({ querystring: HostedDeployments }),
    async ({ query: { offset = 0 } }, reply) => sendFresh(reply, { offset, resources: [] }))
  app.get(`${root}/:id`, hostedRoute({ params: HostedPath }), async () => {
    throw new HeddleError('not_found', 'There are no listeners here: leave out --listener-id.')
  })
}

function updateRoutes(app: App, parts: ControlParts): void {
  const one = `${hostedRoot}/v2/deployments/:id`

  app.post(`${one}/push-token`, hostedRoute({ params: HostedPath }), async () => {
    throw noImages()
  })

  app.post(`${one}/upload-url`, hostedRoute({ params: HostedPath }), async (request, reply) => {
    const deployment = await hostedDeploymentOf(parts, request)
    const { revision, address } = await buildsIn(parts).begin(deployment, { message,
      by: byOf(request.caller) })
    return sendFresh(reply, { object_path: revision.id,
      upload_url: `${request.protocol}://${request.host}${
        calledRoot(request)
      }/uploads/${address}` })
  })

  app.patch(one, hostedRoute({ params: HostedPath, body: HostedUpdate }),
    async (request, reply) => {
      const { revision_source: source, source_config: commands, secrets,
        source_revision_config: { source_tarball_path: uploaded = '',
          langgraph_config_path: config = 'langgraph.json' } } = request.body
      requireSource(source)
      requireNoCommands(commands)
      const deployment = await hostedDeploymentOf(parts, request)
      const revision = await revisionById(parts, deployment, uploaded)
      const builds = buildsIn(parts)
      if (await builds.phase(revision) !== 'received') {
        throw new HeddleError('not_ready', `The archive of ${revision.name} is not uploaded, or ` +
          'it is built already.')
      }
      await setHostedSecrets(parts, deployment, request, secrets ?? [])
      await builds.start(revision, { by: byOf(request.caller), config, activates: true })
      return sendFresh(reply, json(parts, request, deployment))
    })
}

/** The address is what its caller shows: the command sends no key there. */
function uploadRoute(app: App, parts: ControlParts): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.put(`${hostedRoot}/uploads/:address`, { schema: { hide: true },
    config: { access: 'public' } }, async (request, reply) => {
    const { params, body } = request as { readonly params: { readonly address: string };
      readonly body: AsyncIterable<Uint8Array> | undefined }
    if (body === undefined) throw new HeddleError('invalid', 'The archive is empty.')
    await buildsIn(parts).receive(params.address, body)
    return reply.code(200).send()
  })
}

function requireSource(source: string): void {
  if (source !== 'internal_source') throw noImages()
}

function noImages(): HeddleError {
  return new HeddleError('invalid', 'No images are taken here: add --remote, and the project is ' +
    'built here.')
}

function requireNoCommands(commands: HostedUpdate['source_config']): void {
  if (commands?.install_command == null && commands?.build_command == null) return
  throw new HeddleError('invalid', 'No commands are run here: the packages of the lock file are ' +
    'installed, and TypeScript needs no build.')
}
