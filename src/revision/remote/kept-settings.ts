/**
 * Settings of a project that package managers may read: the packages that it needs, and their
 * layout. All others are left out, as some run code, download programs, or name folders of the
 * server. Pure.
 */

import { parse } from 'yaml'

import { valueIn } from '../../json/index.ts'
import { RevisionError } from '../revision-error.ts'

/** A file of settings that were kept. */
export type KeptSettings = Readonly<Record<string, unknown>>

const manifestFields: readonly string[] = ['name', 'version', 'private', 'type', 'workspaces',
  'dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies',
  'peerDependenciesMeta', 'dependenciesMeta', 'overrides', 'resolutions', 'bundleDependencies',
  'bundledDependencies', 'trustedDependencies', 'patchedDependencies', 'catalog', 'catalogs',
  'installConfig', 'os', 'cpu', 'libc', 'bin']

const pnpmSettings: readonly string[] = ['packages', 'catalog', 'catalogs', 'overrides',
  'packageExtensions', 'patchedDependencies', 'allowUnusedPatches', 'ignoredOptionalDependencies',
  'peerDependencyRules', 'allowedDeprecatedVersions', 'autoInstallPeers', 'dedupePeerDependents',
  'excludeLinksFromLockfile', 'injectWorkspacePackages', 'dedupeInjectedDeps',
  'linkWorkspacePackages', 'preferWorkspacePackages', 'peersSuffixMaxLength',
  'resolvePeersFromWorkspaceRoot', 'strictPeerDependencies', 'hoist', 'hoistPattern',
  'publicHoistPattern', 'shamefullyHoist', 'nodeLinker', 'supportedArchitectures',
  'minimumReleaseAge', 'minimumReleaseAgeExclude', 'trustPolicy', 'trustPolicyExclude']

const yarnSettings: readonly string[] = ['catalog', 'catalogs', 'packageExtensions',
  'compressionLevel', 'nmHoistingLimits', 'supportedArchitectures']

/** The kept settings of a package.json. Throws RevisionError. */
export function keptManifest(text: string): KeptSettings {
  const found = objectOf('package.json', () => valueIn(text))
  const { pnpm } = found
  return { ...picked(found, manifestFields),
    ...typeof pnpm === 'object' && pnpm !== null && { pnpm: picked(pnpm, pnpmSettings) } }
}

/** The kept settings of a pnpm-workspace.yaml. Throws RevisionError. */
export function keptWorkspace(text: string): KeptSettings {
  return picked(objectOf('pnpm-workspace.yaml', (): unknown => parse(text)), pnpmSettings)
}

/** The kept settings of a .yarnrc.yml. Throws RevisionError. */
export function keptYarnSettings(text: string): KeptSettings {
  return picked(objectOf('.yarnrc.yml', (): unknown => parse(text)), yarnSettings)
}

function picked(from: object, names: readonly string[]): KeptSettings {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
}

function objectOf(file: string, read: () => unknown): Readonly<Record<string, unknown>> {
  try {
    const found = read() ?? {}
    if (typeof found === 'object' && !Array.isArray(found)) return { ...found }
  } catch {
    // It is said below.
  }
  throw new RevisionError('no_install', `${file} of the project cannot be read.`)
}
