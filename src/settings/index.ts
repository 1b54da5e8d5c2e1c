/** The settings of a server, and what reads and checks them. */

export { ownVersion, resolveSettings, SettingsError } from './config.ts'
export type { CassandraSettings, MemberSettings, Settings } from './config.ts'
export { ipAddress, ipRange, isLoopback, isWithin } from './ip-address.ts'
export type { IpAddress, IpRange } from './ip-address.ts'
export { knownSettings, namesOf } from './known-settings.ts'
export type { SettingName } from './known-settings.ts'
export { regions } from './region.ts'
export type { Region, RegionName } from './region.ts'
export { readSettingFile } from './setting-file.ts'
export { settingGroups } from './setting.ts'
export type { SettingsSource } from './settings-reader.ts'
export { optimiseSoon, v8Flags } from './v8-flags.ts'
