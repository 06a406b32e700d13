/** The roles of tokens and their order, without the schema library: pages and the command line need no more. */

/** What a token may do, from least to most. Each role can do what the ones before it can. */
export const ROLES = ["observe", "approve", "operate", "admin"] as const;
export type RoleName = (typeof ROLES)[number];

/** True when `role` can do everything that `need` can. */
export const reaches = (role: RoleName, need: RoleName): boolean => ROLES.indexOf(role) >= ROLES.indexOf(need);
