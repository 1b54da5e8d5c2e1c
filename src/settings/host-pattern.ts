/** Patterns of host names: a name, or `*.example.org` for all names below one. Pure. */

/** True for a host name in small letters that the pattern names. */
export function fitsHost(name: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern
}
