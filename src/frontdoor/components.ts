/** The routes of components: the elements that load one, and the files that these name. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { loadComponent, readComponentFile } from '../api/index.ts'
import { ignoreNotFound } from '../errors.ts'
import { globalNameOf, isComponentFile } from '../graph/index.ts'
import type { ComponentSource } from '../graph/index.ts'
import { calledAuthority } from './mount/index.ts'
import type { MountParts } from './mount/index.ts'
import type { App, RouteParts } from './http/route.ts'
import { serve } from './http/serve.ts'

/** Parts of which the routes are made. */
export interface ComponentParts extends Pick<MountParts, 'isFromProxy'> {
  /**
   * The components of a deployment, or of the server's own project for undefined; undefined if
   * there cannot be any.
   */
  componentsOf(deployment: string | undefined): ComponentSource | undefined
}

type Parts = ComponentParts & Pick<RouteParts, 'assistants'>

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

const mediaTypes = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

/** Adds the routes. */
export function componentRoutes(app: App, parts: Parts): void {
  const { componentsOf, isFromProxy = () => false } = parts
  serve(app, loadComponent, async (request, reply) => {
    const { graph_id: asked } = request.params
    const found = await filesOf(parts, request)
    if (found === undefined) return sendMissing(reply, `There is no UI for ${asked}.`)
    const base = baseOf(request, isFromProxy)
    return reply.header('cache-control', 'no-store').type('text/html; charset=utf-8')
      .send(elementsOf(base, request.body.name, found))
  })

  serve(app, readComponentFile, async (request, reply) => {
    const { file } = request.params
    const source = componentsOf(request.deployment?.name)
    const content = isComponentFile(file) ? await source?.read(file) : undefined
    if (content === undefined) return sendMissing(reply, 'There is no such file.')
    reply.server.unread.cut(reply.raw)
    return reply.headers({
      'content-type': file.endsWith('.css') ? mediaTypes.css : mediaTypes.js,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      // Its name is its secret: whoever has that may load it from any page.
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    }).send(Buffer.from(content.buffer, content.byteOffset, content.byteLength))
  })
}

function sendMissing(reply: FastifyReply, text: string): FastifyReply {
  return reply.code(404).type('text/plain; charset=utf-8')
    .header('x-content-type-options', 'nosniff').send(text)
}

interface FoundFiles {
  readonly graphId: string
  readonly names: readonly string[]
}

/** The files for a graph, or for that of an assistant, which clients name as well. */
async function filesOf({ componentsOf, assistants }: Parts,
  { caller, deployment, params }: FastifyRequest): Promise<FoundFiles | undefined> {
  const { graph_id: asked } = params as { readonly graph_id: string }
  const source = componentsOf(deployment?.name)
  const named = async (graphId: string | undefined) => {
    const names = graphId === undefined ? [] : await source?.namesOf(graphId) ?? []
    return names.length === 0 ? undefined : { graphId: graphId!, names }
  }
  const found = await named(asked)
  if (found !== undefined || source === undefined || !uuid.test(asked)) return found
  const assistant = await assistants.get(caller, asked).catch(ignoreNotFound)
  return await named(assistant?.graphId)
}

/** Address of this server as the client called it, without a path of its own. */
function baseOf(request: FastifyRequest, isFromProxy: NonNullable<Parts['isFromProxy']>) {
  const authority = calledAuthority(request, isFromProxy)
  const host = URL.parse(`http://${authority}`)?.host ?? ''
  const isHere = /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(host)
  return `${isHere ? 'http:' : ''}//${host}${prefixOf(request)}`
}

/** The part of the path before that of the route: of a deployment, and of `mount_prefix`. */
function prefixOf({ originalUrl, deployment }: FastifyRequest): string {
  const [path = ''] = originalUrl.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  const prefix = path.slice(0, Math.max(0, path.lastIndexOf('/ui/')))
  return /^(\/[\w.~%-]+)*$/.test(prefix) ? prefix : deployment?.prefix ?? ''
}

/** The elements that `LoadExternalComponent` of the SDK puts into a page. */
function elementsOf(base: string, name: string, { graphId, names }: FoundFiles): string {
  const address = (file: string) => `${base}/ui/${encodeURIComponent(graphId)}/${file}`
  const sheets = names.filter((file) => file.endsWith('.css'))
    .map((file) => `<link rel="stylesheet" href="${address(file)}">`)
  const scripts = names.filter((file) => file.endsWith('.js')).map((file) =>
    `<script src="${address(file)}" ` +
    `onload='${globalNameOf(graphId)}.render(${scriptText(name)}, "{{shadowRootId}}")'></script>`
  )
  return [...sheets, ...scripts].join('\n')
}

/**
 * A text as JavaScript in an attribute. A graph may have any text as a name, also one that a model
 * wrote, and the client replaces the first braces that it finds.
 */
function scriptText(text: string): string {
  return JSON.stringify(text).replace(/[^\w "\\.-]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
