/** What browsers say of the page that makes a request, beside its origin. */

import type { FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'

/**
 * Whether a page of another origin loads this as an image, a script or a frame: such requests have
 * no origin. A person who follows a link is welcome.
 */
export function isForeignLoad({ headers }: FastifyRequest): boolean {
  return isOfOthers(headers['sec-fetch-site']) && (headers['sec-fetch-mode'] !== 'navigate' ||
    headers['sec-fetch-dest'] !== 'document')
}

/**
 * Throws `forbidden` for a request that may come from a page of another origin, which can have it
 * made by any visitor: leaving must not cancel a run then. An origin was checked before. Browsers
 * say no more to a server at a plain address of a network; there the page must be one of its own.
 */
export function requireOwnPage(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site, 'user-agent': agent = '', referer } = request.headers
  if (origin !== undefined) return
  const isForeign = site === undefined
    ? agent.startsWith('Mozilla/') && !isOwn(request, referer) :
    isOfOthers(site)
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
