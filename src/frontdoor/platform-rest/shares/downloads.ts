/** Routes that give one stored file to anybody who has a signed link to it. */

import { Readable } from 'node:stream'

import type { FastifyReply, FastifyRequest } from 'fastify'

import { downloadFile, downloadPublicFile } from '../../../api/index.ts'
import type { Query } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { DownloadClaim, Platform } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'

/**
 * Media types that browsers neither run nor show as a page: a script with such an address would run
 * as one of this server's.
 */
const plainTypes: readonly RegExp[] = [/^(?:image|audio|video|font)\/(?!svg)[\w.+-]{1,100}$/i,
  /^text\/(?:plain|csv|markdown)$/i, /^application\/(?:json|pdf|zip|gzip|x-ndjson|msword)$/i,
  /^application\/vnd\.[\w.-]{1,100}$/i]

/** Adds the routes below `/api/v1`. */
export function downloadRoutes(app: App, { platform }: PlatformParts): void {
  const handle = async (request: FastifyRequest<{ Querystring: Query<typeof downloadFile> }>,
    reply: FastifyReply) => {
    const { jwt = '' } = request.query
    const claim = await platform.downloads.claimOf(jwt)
    const file = claim.kind === 'span' ? await ofSpan(platform, claim) : ofExample(platform, claim)
    void reply.headers({
      'content-type': shownType(claim.type),
      // Browsers store it: it is never shown as a page of this server.
      'content-disposition': `attachment; filename*=UTF-8''${escaped(claim.name)}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-store',
    })
    if (Buffer.isBuffer(file)) {
      reply.server.unread.hold(reply.raw, file, request.caller.tenant)
      return reply.send(file)
    }
    const parts = file[Symbol.asyncIterator]()
    // What is missing is known with the first part, while the answer can still say so.
    const first = await parts.next()
    if (first.done === true && claim.bytes > 0) throw gone()
    return reply.header('content-length', claim.bytes).send(Readable.from(from(first, parts)))
  }
  serve(app, downloadPublicFile, handle)
  serve(app, downloadFile, handle)
}

/** An attachment of a span that exists. Throws `not_found`. */
async function ofSpan(platform: Platform,
  { tenant, ids: [span, named], name }: DownloadClaim): Promise<Buffer> {
  // Links of earlier versions name no project.
  const places = (await platform.query.locate({ tenant, ids: [span!] }))
    .filter(({ project }) => named === undefined || project === named)
  const [project] = await platform.projects.get(tenant, places.map((place) => place.project))
  const file = project === undefined
    ? undefined
    : await platform.query.spanFile({ tenant, project: project.id, span: span!, name })
  if (file === undefined) throw gone()
  const { buffer, byteOffset, byteLength } = file.data
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The parts of an attachment of an example. */
function ofExample({ datasets }: Platform, claim: DownloadClaim): AsyncIterable<Uint8Array> {
  const { tenant, ids: [dataset, example] } = claim
  return datasets.file(tenant, dataset!, example!, claim)
}

async function* from(first: IteratorResult<Uint8Array, unknown>,
  rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value
}

function gone(): HeddleError {
  return new HeddleError('not_found', 'The file is gone.')
}

/** The media type of a download. What a browser could run is bytes. */
function shownType(type: string): string {
  const [first = ''] = type.split(';')
  const name = first.trim()
  return plainTypes.some((each) => each.test(name)) ? name : 'application/octet-stream'
}

/** As RFC 8187 has it. Half a surrogate pair is replaced. */
function escaped(name: string): string {
  return encodeURIComponent(name.toWellFormed())
    .replace(/['()*!]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
