// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// secretType, secretKey and the name below match Helm's driver for Secrets, pkg/storage/driver/secrets.go, and
	// pkg/storage/storage.go.
	secretType = corev1.SecretType("helm.sh/release.v1")
	secretKey  = "release"

	labelName       = "name"
	labelOwner      = "owner"
	labelStatus     = "status"
	labelVersion    = "version"
	labelModifiedAt = "modifiedAt"
	ownerHelm       = "helm"
	kindSecret      = "Secret"

	// maxSecretSize is the maximum size of the data of a Secret in the API server.
	maxSecretSize = corev1.MaxSecretSize
)

// The statuses of a release, as Helm writes them.
const (
	StatusDeployed        = string(release.StatusDeployed)
	StatusFailed          = string(release.StatusFailed)
	StatusSuperseded      = string(release.StatusSuperseded)
	StatusPendingInstall  = string(release.StatusPendingInstall)
	StatusPendingUpgrade  = string(release.StatusPendingUpgrade)
	StatusPendingRollback = string(release.StatusPendingRollback)
	StatusUninstalling    = string(release.StatusUninstalling)
)

// Name returns the name of the Secret that holds a revision of a release.
func Name(releaseName string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", releaseName, revision)
}

// secretOf returns the Secret of a release, in the given form or a later one.
func secretOf(rel *release.Release, form int) (*corev1.Secret, error) {
	if driver.ContainsSystemLabels(rel.Labels) {
		return nil, errors.Errorf("a release record must not have any of the labels %v", driver.GetSystemLabels())
	}
	data, _, err := encodeFrom(rel, form, maxSecretSize)
	if err != nil {
		return nil, errors.Wrapf(err, "release record of chart %q", rel.Chart.Name())
	}

	labels := map[string]string{}
	maps.Copy(labels, rel.Labels)
	maps.Copy(labels, map[string]string{
		labelName:       rel.Name,
		labelOwner:      ownerHelm,
		labelStatus:     rel.Info.Status.String(),
		labelVersion:    strconv.Itoa(rel.Version),
		labelModifiedAt: strconv.FormatInt(rel.Info.LastDeployed.Unix(), 10),
	})
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: kindSecret},
		ObjectMeta: metav1.ObjectMeta{
			Name:      Name(rel.Name, rel.Version),
			Namespace: rel.Namespace,
			Labels:    labels,
		},
		Type: secretType,
		Data: map[string][]byte{secretKey: data},
	}, nil
}
