/**
 * Refuses packages that come from elsewhere than a registry or the project itself: package
 * managers would copy files of the server, write beside the project, or run what they fetch. Pure.
 */

import { posix } from 'node:path'

import { RevisionError } from '../revision-error.ts'
import type { LockFile } from './install-command.ts'
import type { KeptSettings } from './kept-settings.ts'
import { textsOf, textsOfLock } from './lock-texts.ts'
import { openHosts, requireOpenText } from './open-hosts.ts'

/** Folders between a project and that of its build: a lock file may not lead up further. */
export const climbsMax = 8

/** Hosts that are open on a server without a registry of its own. */
const anyHosts = openHosts(undefined)

const fromGit = /git\+(?:ssh|https?|file):|git:\/\/|git@[\w.-]+:|\.git#/
/** Protocols of packages that are in a registry, in an archive of one, or in the project. */
const protocols: readonly string[] = ['npm', 'jsr', 'workspace', 'patch', 'file', 'link', 'portal',
  'catalog', 'http', 'https']
/** Kinds of packages in a pnpm lock file that come from elsewhere than a registry. */
const kinds: readonly string[] = ['git', 'binary', 'variations', 'custom']
const absolute = /(?:^|[@:#"'])(?:[\\/]|[a-z]:[\\/])|(?:^|[@:"'])~[\\/]/i

/** Throws RevisionError for a lock file that names such a package. */
export function requireRegistryLock(lock: LockFile, hosts = anyHosts): void {
  if (lock.name === 'bun.lockb') {
    throw new RevisionError('no_install', 'bun.lockb cannot be read here: make a bun.lock of it ' +
      'with bun install --save-text-lockfile.')
  }
  const texts = textsOfLock(lock).map((text) => decoded(text))
  for (const text of texts) {
    for (const [, protocol] of text.matchAll(/[^\s"']@([a-z][a-z+]*):/gi)) requireKnown(protocol!)
    if (fromGit.test(text)) throw notFromRegistry('git')
    requireOpenText(text, hosts)
    if (climbsOf(text) > climbsMax || leadsAway(text)) throw outside(lock.name)
  }
  texts.forEach((text, index) => {
    if (text === 'type' && kinds.includes(texts[index + 1]!)) throw notFromRegistry('elsewhere')
  })
  if (texts.includes('pnpmfileChecksum')) {
    throw new RevisionError('no_install',
      'The lock file depends on .pnpmfile.cjs, and no code of ' +
        'a project is run while it is built here: deploy it without --remote.')
  }
}

/** Throws for kept settings that name such a package. `folder` is their place, from the root. */
export function requireRegistrySettings(kept: KeptSettings, folder: string, name: string,
  hosts = anyHosts): void {
  const file = posix.join(folder, name)
  for (const text of textsOf(kept).map((each) => decoded(each))) {
    const [, protocol, path = ''] = /^([a-z][a-z+]*):(.*)$/i.exec(text) ?? []
    if (protocol !== undefined) requireKnown(protocol)
    if (fromGit.test(text)) throw notFromRegistry('git')
    requireOpenText(text, hosts)
    if (leadsAway(text) || climbsOut(folder, path) || climbsOut(folder, text)) throw outside(file)
  }
  // Packages are installed into folders of the workspace, so these may not lie outside.
  for (const text of [...textsOf(kept['workspaces']), ...textsOf(kept['packages'])]) {
    if (climbsOf(text) > 0) throw outside(file)
  }
}

/** The text decoded as addresses are, several times, because one may hold another. */
function decoded(text: string, times = 4): string {
  if (!/%[0-9a-f]{2}/i.test(text)) return text
  if (times === 0) throw notFromRegistry('an address that cannot be read')
  return decoded(
    text.replaceAll(/%([0-9a-f]{2})/gi,
      (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    times - 1,
  )
}

function climbsOf(text: string): number {
  return text.split(/[\\/:@#=,\s"'!{}]/).filter((step) => step === '..').length
}

function climbsOut(folder: string, path: string): boolean {
  return /^\.\.(\/|$)/.test(posix.join(folder === '' ? '.' : folder, path.replaceAll('\\', '/')))
}

function leadsAway(text: string): boolean {
  return absolute.test(text.replaceAll(/https?:\/\//gi, ''))
}

function requireKnown(protocol: string): void {
  if (!protocols.includes(protocol.toLowerCase())) throw notFromRegistry(protocol)
}

function notFromRegistry(where: string): RevisionError {
  return new RevisionError('not_from_registry', `A package of the project comes from ${where}, ` +
    'and what is built here takes packages from registries only: deploy it without --remote.')
}

function outside(file: string): RevisionError {
  return new RevisionError('outside_project', `${file} names a folder outside of the project: ` +
    'copy what it needs into the project, or deploy it without --remote.')
}
