/** What users and their tools may rely on: files, properties, errors, usage lines, the program's behaviour at its start. */
package routes.contract;
