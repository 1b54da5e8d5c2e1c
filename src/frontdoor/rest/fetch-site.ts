/** Headers in which browsers describe the page that makes a request, besides its origin. */

import type { FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'

/**
 * True if a page of another origin loads this as an image, a script or a frame. Such requests have
 * no origin. A person who follows a link is let in.
 */
export function isForeignLoad({ headers }: FastifyRequest): boolean {
  return isOfOthers(headers['sec-fetch-site']) && (headers['sec-fetch-mode'] !== 'navigate' ||
    headers['sec-fetch-dest'] !== 'document')
}

/**
 * Throws `forbidden` if a page of another origin may have made the request. Such a page could have
 * any visitor make it, and leaving must not cancel a run then. The origin was checked before.
 * Browsers send less to a server at a plain network address; there the page must be one of this
 * server's own.
 */
export function requireOwnPage(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site, 'user-agent': agent = '', referer } = request.headers
  if (origin !== undefined) return
  const isForeign = site === undefined
    ? agent.startsWith('Mozilla/') && !isOwn(request, referer)
    : isOfOthers(site)
  if (!isForeign) return
  throw new HeddleError('forbidden', 'A page of another origin may not cancel a run by leaving: ' +
    'leave out cancel_on_disconnect, or call by fetch with mode cors.')
}

function isOfOthers(site: string | string[] | undefined): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

function isOwn({ host }: FastifyRequest, referer: string | undefined): boolean {
  return referer !== undefined && URL.parse(referer)?.host === host
}
