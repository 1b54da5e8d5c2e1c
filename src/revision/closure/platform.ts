/** Platforms, and the check that native code is for one of them. */

import { RevisionError } from '../revision-error.ts'
import type { PackageJson } from './installed-package.ts'

/** System, processor and C library that a revision runs on. */
export interface Platform {
  /** As Node.js names it: linux, darwin, win32. */
  readonly os: string
  /** As Node.js names it: x64, arm64. */
  readonly cpu: string
  /** Of Linux only; undefined elsewhere. */
  readonly libc: 'glibc' | 'musl' | undefined
}

/** The platform of this process. */
export function platformHere(): Platform {
  const { platform: os, arch: cpu } = process
  if (os !== 'linux') return { os, cpu, libc: undefined }
  // The types lack it. Without it the report looks up the names of all connections.
  Object.assign(process.report, { excludeNetwork: true })
  const { header } = process.report.getReport() as { readonly header: object }
  return { os, cpu, libc: 'glibcVersionRuntime' in header ? 'glibc' : 'musl' }
}

/** Name of a platform, such as `linux-x64-glibc`. */
export function platformName({ os, cpu, libc }: Platform): string {
  return [os, cpu, ...libc ? [libc] : []].join('-')
}

/** The platform of a name; undefined if it is none. */
export function platformOf(name: string): Platform | undefined {
  const [, os, cpu, libc] = /^(linux|darwin|win32)-(x64|arm64)(?:-(glibc|musl))?$/.exec(name) ?? []
  if (os === undefined || cpu === undefined || libc !== undefined && os !== 'linux')
    return undefined
  return { os, cpu, libc: os === 'linux' ? libc === 'musl' ? 'musl' : 'glibc' : undefined }
}

/** True if a package says that it runs there, or does not say where it runs. */
export function runsOn({ os, cpu, libc }: PackageJson, platform: Platform): boolean {
  return allows(os, platform.os) && allows(cpu, platform.cpu)
    && (platform.libc === undefined || allows(libc, platform.libc))
}

/**
 * True if a list of npm allows a name. It has names, or names with `!` for all others, or `any`.
 */
function allows(listed: readonly string[], name: string): boolean {
  if (listed.length === 0 || listed.includes('any')) return true
  const [not, only] = [listed.filter((each) => each.startsWith('!')),
    listed.filter((each) => !each.startsWith('!'))]
  return !not.includes(`!${name}`) && (only.length === 0 || only.includes(name))
}

const machines: Readonly<Record<string, readonly [elf: number, mach: number, pe: number]>> = {
  x64: [0x3e, 0x0100_0007, 0x8664],
  arm64: [0xb7, 0x0100_000c, 0xaa64],
}

/** True if the native code of a `.node` file runs there, or is of a form that is not known. */
export function isCodeFor(bytes: Buffer, { os, cpu, libc }: Platform): boolean {
  const [elf, mach, pe] = machines[cpu] ?? []
  if (bytes.length < 64 || elf === undefined) return true
  if (bytes.readUInt32BE(0) === 0x7f45_4c46) {
    return os === 'linux' && bytes.readUInt16LE(18) === elf && isLibc(bytes, libc)
  }
  if (bytes.readUInt32LE(0) === 0xfeed_facf) {
    return os === 'darwin' && bytes.readUInt32LE(4) === mach
  }
  // Several machines in a file.
  if (bytes.readUInt32BE(0) === 0xcafe_babe) return os === 'darwin'
  if (bytes.toString('latin1', 0, 2) === 'MZ') {
    const header = bytes.readUInt32LE(60)
    return os === 'win32' && header + 6 <= bytes.length && bytes.readUInt16LE(header + 4) === pe
  }
  return true
}

/** True unless the code is linked to the other C library. Code linked to neither runs with both. */
function isLibc(bytes: Buffer, libc: Platform['libc']): boolean {
  return !bytes.includes(libc === 'musl' ? 'libc.so.6\0' : 'libc.musl-')
}

/** The error for a package without code for the platform. */
export function otherPlatform(name: string, platform: Platform): RevisionError {
  return new RevisionError('other_platform', `${name} does not run on ` +
    `${platformName(platform)}: install the project on such a machine, and build it there.`)
}
