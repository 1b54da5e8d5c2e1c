/** What links to attachments in an answer are made of. */

import type { FastifyRequest } from 'fastify'

import type { LinkKey, Platform } from '../../platform/index.ts'
import { outerPath } from '../http/caller.ts'

/** What stands before links in an answer. Clients of before 0.12 fetch a link as it is. */
export function linkBase(
  request: Pick<FastifyRequest, 'protocol' | 'host' | 'deployment'>,
): string {
  const { protocol, host } = request
  return `${protocol}://${host}${outerPath(request, '/api/v1')}`
}

/** Absolute links to attachments. */
export async function attachmentLinks({ downloads }: Pick<Platform, 'downloads'>,
  request: Pick<FastifyRequest, 'protocol' | 'host' | 'deployment'>): Promise<LinkKey> {
  return { ...await downloads.linkKey(), base: linkBase(request) }
}

/** True if the member with links is selected, in whatever API. */
export function asksForLinks(select: readonly string[] | null | undefined): boolean {
  return select?.some((name) => /^(?:s3_urls|attachments)$/i.test(name)) ?? false
}
