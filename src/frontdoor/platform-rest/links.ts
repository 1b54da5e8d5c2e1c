/** Parts of the links in an answer: to attachments, and to pages of the Studio. */

import type { FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'
import type { LinkKey, Platform } from '../../platform/index.ts'
import { outerPath } from '../http/caller.ts'
import type { CalledDeployment } from '../http/caller.ts'

/** URL that stands before links in an answer. Clients of before 0.12 fetch a link as it is. */
export function linkBase(
  request: Pick<FastifyRequest, 'protocol' | 'host' | 'deployment'>,
): string {
  const { protocol, host } = request
  return `${protocol}://${host}${outerPath(request, '/api/v1')}`
}

/** Makes the key and the base for absolute links to attachments. */
export async function attachmentLinks({ downloads }: Pick<Platform, 'downloads'>,
  request: Pick<FastifyRequest, 'protocol' | 'host' | 'deployment'>): Promise<LinkKey> {
  return { ...await downloads.linkKey(), base: linkBase(request) }
}

/** True if the member with links is selected, in whatever API. */
export function asksForLinks(select: readonly string[] | null | undefined): boolean {
  return select?.some((name) => /^(?:s3_urls|attachments)$/i.test(name)) ?? false
}

/** Address of a page of the Studio: its path below the Studio, and its search parameters. */
export interface StudioPage {
  readonly path: readonly string[]
  readonly search?: Readonly<Record<string, string>> | undefined
}

/** The page of a run. Without its trace, the Studio looks for it. */
export function runPage(project: string, run: string,
  trace: string | null | undefined): StudioPage {
  if (trace == null) return { path: ['traces', '-', run] }
  return { path: ['traces', project, trace], search: trace === run ? {} : { span: run } }
}

/**
 * Path and query of a page below the folder of the server, without a slash before it. Throws
 * `not_found` at the host of a deployment, which has no Studio.
 */
export function studioPath(deployment: Pick<CalledDeployment, 'name' | 'prefix'> | undefined,
  { path, search = {} }: StudioPage): string {
  const query = new URLSearchParams(search).toString()
  const page = path.map(encodeURIComponent).join('/') + (query && `?${query}`)
  if (deployment === undefined) return `studio/${page}`
  const below = `studio/d/${deployment.name}/${page}`
  if (deployment.prefix !== '') return below
  throw new HeddleError('not_found', 'The Studio has no page at the host of a deployment: open ' +
    `/${below} at the address of the server.`)
}

/** The same as a whole address. */
export function studioUrl(request: FastifyRequest, page: StudioPage): string {
  const { protocol, host, deployment } = request
  return `${protocol}://${host}/${studioPath(deployment, page)}`
}
