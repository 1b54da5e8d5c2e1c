/** What links to attachments in an answer are made of. */

import type { FastifyRequest } from 'fastify'

import type { AttachmentLinks, Platform } from '../../platform/index.ts'
import { outerPath } from '../http/caller.ts'

/** For v1: clients put the base URL that they know before the path. */
export async function linksOfV1({ downloads }: Pick<Platform, 'downloads'>): Promise<
  AttachmentLinks
> {
  return { key: await downloads.linkKey(), base: '' }
}

/** For v2, whose links are absolute. */
export async function linksOfV2({ downloads }: Pick<Platform, 'downloads'>,
  request: Pick<FastifyRequest, 'protocol' | 'host' | 'deployment'>): Promise<AttachmentLinks> {
  const { protocol, host } = request
  return { key: await downloads.linkKey(),
    base: `${protocol}://${host}${outerPath(request, '/api/v1')}` }
}

/** True if the member with links is selected, in whatever API. */
export function asksForLinks(select: readonly string[] | null | undefined): boolean {
  return select?.some((name) => /^(?:s3_urls|attachments)$/i.test(name)) ?? false
}
