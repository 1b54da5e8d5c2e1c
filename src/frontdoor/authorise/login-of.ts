/** The login that a project brings, loaded if it is not. */

import type { GraphHost, ProjectLogin } from '../../graph/index.ts'

/**
 * Resolves with the login of the project of a host; undefined if it brings none. Throws if it
 * cannot be loaded. It stays loaded for longer than a request asks it.
 */
export async function loginOf(
  host: Pick<GraphHost, 'app' | 'openApp'>,
): Promise<ProjectLogin | undefined> {
  if (host.openApp === undefined) return host.app?.()?.login
  const opened = await host.openApp()
  opened.leave()
  return opened.app?.login
}
