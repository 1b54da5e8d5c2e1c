/**
 * The packages that a project needs, found as Node finds them: through the folders that are there.
 * No lock file is read, so every package manager is served that installs into node_modules.
 */

import { lstat, realpath } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, relative, sep } from 'node:path'

import { RevisionError } from '../revision-error.ts'
import { needsOf, packageOf, readPackage } from './installed-package.ts'
import type { PackageJson } from './installed-package.ts'
import { isBelow } from './own-files.ts'
import { otherPlatform, runsOn } from './platform.ts'
import type { Platform } from './platform.ts'

/** A package that is packed. */
export interface InstalledPackage {
  /** Absolute and without links. */
  readonly folder: string
  /** From the root, with slashes. */
  readonly path: string
  readonly about: PackageJson
  /** Folders of the packages that it needs and that are there. */
  readonly needs: ReadonlySet<string>
}

/** A link in a folder of packages, with paths from the root. */
export interface PackageLink {
  readonly path: string
  readonly target: string
}

/** All that a project needs beside its own files. */
export interface PackageClosure {
  readonly packages: readonly InstalledPackage[]
  /** Folders of the packages that the project itself names or imports. */
  readonly direct: ReadonlySet<string>
  /** Links from a package to a package. */
  readonly links: readonly PackageLink[]
  /** Links to packages of the workspace, whose files are own files. */
  readonly workspaceLinks: readonly PackageLink[]
}

/** Starting points of the search for packages. */
export interface ClosureOptions {
  /** Absolute and without links. */
  readonly root: string
  /** Absolute folders of own packages: that of the project, and those of files that it imports. */
  readonly ownFolders: readonly string[]
  /** Imports of own files: the importing folder, and whether the file runs without the package. */
  readonly imports: readonly { readonly folder: string; readonly name: string;
    readonly isOptional: boolean }[]
  readonly platform: Platform
}

/** The packages, and the links between them. Throws RevisionError. */
export async function packageClosure(options: ClosureOptions): Promise<PackageClosure> {
  const walk = new Walk(options)
  for (const folder of options.ownFolders) await walk.addOwn(folder)
  for (const { folder, name, isOptional } of options.imports) {
    await walk.addImport({ folder, name, isOptional, whose: 'Its own code' })
  }
  return walk.found()
}

/** The package that a specifier names; undefined if it is a part of Node.js or no package. */
export function packageNameOf(specifier: string): string | undefined {
  if (isBuiltin(specifier) || /^[./#]|^[a-z]+:/i.test(specifier)) return undefined
  return /^(@[^/]+\/[^/]+|[^@/][^/]*)/.exec(specifier)?.[1]
}

interface Need {
  readonly folder: string
  readonly name: string
  readonly isOptional: boolean
  readonly whose: string
}

class Walk {
  readonly #root: string
  readonly #platform: Platform
  readonly #own = new Set<string>()
  readonly #direct = new Set<string>()
  readonly #packages = new Map<string, InstalledPackage>()
  readonly #links = new Map<string, PackageLink>()
  readonly #workspaceLinks = new Map<string, PackageLink>()

  constructor({ root, platform }: ClosureOptions) {
    this.#root = root
    this.#platform = platform
  }

  found(): PackageClosure {
    const sorted = <T extends { readonly path: string }>(all: Map<string, T>) =>
      [...all.values()].toSorted((one, other) => one.path < other.path ? -1 : 1)
    return { packages: sorted(this.#packages), direct: this.#direct, links: sorted(this.#links),
      workspaceLinks: sorted(this.#workspaceLinks) }
  }

  /** Adds what a package of the workspace needs. */
  async addOwn(folder: string): Promise<void> {
    if (this.#own.has(folder)) return
    this.#own.add(folder)
    const about = await readPackage(folder)
    const needs = about && await this.#addNeeds(folder, about, about.name ?? basename(folder))
    for (const need of needs ?? []) this.#direct.add(need)
  }

  /** Adds a package that own code imports. */
  async addImport(need: Need): Promise<void> {
    const found = await this.#need(need)
    if (found !== undefined) this.#direct.add(found)
  }

  /** Finds a package and adds it. Returns its folder; undefined if the project runs without it. */
  async #need({ folder, name, isOptional, whose }: Need): Promise<string | undefined> {
    const place = await this.#find(folder, name)
    if (place === undefined) {
      if (isOptional) return undefined
      if (await isThere(join(this.#root, '.pnp.cjs'))) throw plugAndPlay()
      throw new RevisionError('not_installed',
        `${whose} needs ${name}, which is not installed in ` +
          `${this.#root}: install the project there.`)
    }
    const real = await realpath(place)
    if (!isBelow(this.#root, real)) throw outside(name, real)
    const isOwn = !relative(this.#root, real).split(sep).includes('node_modules')
    if (real !== place) await this.#addLink(place, real, isOwn)
    if (isOwn) await this.addOwn(real)
    else await this.#addPackage(real, name)
    return real
  }

  async #addNeeds(folder: string, about: PackageJson, whose: string): Promise<Set<string>> {
    const found = new Set<string>()
    const [foreign, absent]: [string[], string[]] = [[], []]
    for (const { name, isOptional } of needsOf(about)) {
      const isForeign = isOptional && await this.#isForeign(folder, name)
      if (isForeign) foreign.push(name)
      const place = isForeign ? undefined : await this.#need({ folder, name, isOptional, whose })
      if (place !== undefined) found.add(place)
      else if (!isForeign) absent.push(name)
    }
    // Its code for this platform is a package that was not installed, because another one was.
    const isMissing = foreign.length > 0 &&
      absent.some((name) => name.includes(this.#platform.os)) && !await isForPlatforms(found)
    if (isMissing) throw otherPlatform(foreign[0]!, this.#platform)
    return found
  }

  /** True for a package that is there and says that it does not run on the platform. */
  async #isForeign(folder: string, name: string): Promise<boolean> {
    const place = await this.#find(folder, name)
    const about = place === undefined ? undefined : await readPackage(place)
    return about !== undefined && !runsOn(about, this.#platform)
  }

  async #addPackage(folder: string, name: string): Promise<void> {
    if (this.#packages.has(folder)) return
    const about = await readPackage(folder) ?? packageOf({ name })
    const path = relative(this.#root, folder).replaceAll(sep, '/')
    const needs = new Set<string>()
    this.#packages.set(folder, { folder, path, about, needs })
    for (const need of await this.#addNeeds(folder, about, about.name ?? name)) needs.add(need)
  }

  async #addLink(place: string, real: string, isOwn: boolean): Promise<void> {
    const path = relative(this.#root, place).replaceAll(sep, '/')
    const target = relative(dirname(place), real).replaceAll(sep, '/')
    ;(isOwn ? this.#workspaceLinks : this.#links).set(path, { path, target })
  }

  /** Finds a package as Node does: beside the importing file, then in each folder above. */
  async #find(folder: string, name: string): Promise<string | undefined> {
    for (let place = folder;; place = dirname(place)) {
      const found = join(place, 'node_modules', name)
      if (basename(place) !== 'node_modules'
        && await isThere(join(found, 'package.json'))) return found
      if (place === this.#root || dirname(place) === place) return undefined
    }
  }
}

/** True if one of the folders has a package for some platforms only. */
async function isForPlatforms(folders: ReadonlySet<string>): Promise<boolean> {
  const about = await Promise.all([...folders].map(readPackage))
  return about.some((each) => each?.os !== undefined || each?.cpu !== undefined)
}

async function isThere(file: string): Promise<boolean> {
  return await lstat(file).then(() => true, () => false)
}

/**
 * The error for Plug'n'Play: yarn then keeps packages in archives, which only its own loader reads.
 */
function plugAndPlay(): RevisionError {
  return new RevisionError('not_installed',
    "The project is installed with Plug'n'Play, and so its " +
      'packages are in no folder: write nodeLinker: node-modules into .yarnrc.yml, and run yarn ' +
      'install.')
}

function outside(name: string, real: string): RevisionError {
  return new RevisionError('outside_project', `The package ${name} lies outside of the project, ` +
    `in ${real}: install it from a registry, or make it a part of the workspace.`)
}
